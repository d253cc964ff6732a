// One tooltip for the whole page. What it shows may be anybody's text: it is only ever text.
let box: HTMLDivElement | null = null;

function line(name: string, value: unknown): HTMLElement[] {
  const term = document.createElement('dt');
  term.textContent = name;
  const detail = document.createElement('dd');
  detail.textContent = String(value ?? '');
  return [term, detail];
}

export function showTooltip(x: number, y: number, value: unknown): void {
  if (!box) {
    box = document.createElement('div');
    box.className = 'tooltip';
    box.setAttribute('role', 'status');
    document.body.append(box);
  }
  if (value !== null && typeof value === 'object') {
    const list = document.createElement('dl');
    for (const [name, one] of Object.entries(value)) list.append(...line(name, one));
    box.replaceChildren(list);
  } else {
    box.textContent = String(value);
  }
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? Math.max(4, x - 14 - width) : x + 14;
  const top = y + 14 + height > innerHeight ? Math.max(4, y - 14 - height) : y + 14;
  box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

export function hideTooltip(): void {
  if (box) box.hidden = true;
}
