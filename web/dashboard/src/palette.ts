// Colours: those of the reports' figures (src/report/figures/figure_style.cpp), Okabe and Ito's palette, which readers with any common
// kind of colour blindness can tell apart. States differ in shape, too.
const light = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000'];
// On a dark ground the dark blue is lighter, and black is white.
const dark = ['#4FA8E0', '#E8743B', '#1DBF93', '#DC93BC', '#F0B02E', '#8FD0F5', '#E8EAED'];
const dashes: (number[] | undefined)[] = [undefined, [6, 3], [2, 2], [8, 3, 2, 3]];

export const seriesColor = (index: number, isDark: boolean): string => (isDark ? dark : light)[index % light.length] as string;
// After all colours were used once, lines are dashed.
export const seriesDash = (index: number): number[] | undefined => dashes[Math.floor(index / light.length) % dashes.length];

export const states = ['solved', 'done', 'running', 'waiting', 'interrupted', 'diverged', 'failed', 'cancelled', 'unread'] as const;

// Maps, not objects: a stored text such as 'constructor' must find nothing.
export const stateMeaning = new Map(Object.entries({
  solved: 'trained to its end, accuracy at the threshold or above',
  done: 'trained to its end; in the grid of a study: without solving the task',
  running: 'is being trained now',
  waiting: 'is planned',
  interrupted: 'has a checkpoint to go on from',
  diverged: 'its loss became infinite',
  failed: 'something went wrong',
  cancelled: 'was cancelled',
  unread: 'the server has not read it yet',
}));

// Colours of a specification on a dark ground. Whatever is not on the list stays.
const darkOf = new Map(Object.entries({
  white: '#10161B',  // writing on a coloured cell
  '#333333': '#D5DAE0',
  '#767676': '#98A1AB',
  '#e6e6e6': '#2C333B',
  '#e8e8e8': '#2F363E',
  '#cfcfcf': '#4A535C',
  '#b5b5b5': '#68717B',
  // The middle of scales from one colour over nothing to another, and cells without a value.
  '#f4f4f4': '#262D34',
  '#dddddd': '#3A424A',
  // Mixing matrices: from nothing to much must go away from the ground, too.
  '#eef4fa': '#1F2830',
  '#08306b': '#A8D8F8',
}));
light.forEach((color, index) => {
  darkOf.set(color.toLowerCase(), dark[index] as string);
});
// Data, and the names that scales know them by.
const kept = new Set(['datasets', 'values', 'domain']);

// A copy of a specification in the colours of the theme; data stay as they are, and the ground is the page's.
export function recolour(part: unknown, isDark: boolean, key = ''): unknown {
  if (typeof part === 'string') {
    if (key === 'background') return 'transparent';
    return isDark ? darkOf.get(part.toLowerCase()) ?? part : part;
  }
  if (Array.isArray(part)) return part.map((one) => recolour(one, isDark));
  if (part === null || typeof part !== 'object') return part;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, kept.has(name) ? one : recolour(one, isDark, name)]));
}
