// Studies and their progress, live.
const app = document.getElementById('app');

function row(kind, cells) {
  const line = document.createElement('tr');
  for (const text of cells) line.appendChild(document.createElement(kind)).textContent = text;
  return line;
}

async function show() {
  const lab = await (await fetch('api/v1/lab')).json();
  const table = document.createElement('table');
  table.append(row('th', ['study', 'scale', 'done', 'running', 'waiting', 'planned']));
  for (const study of lab.studies)
    table.append(row('td', [study.title, study.scale, study.done, study.running, study.waiting, study.planned]));
  const title = document.createElement('h1');
  title.textContent = lab.lab;
  app.replaceChildren(title, table);
}

new EventSource('api/v1/events').addEventListener('change', show);
