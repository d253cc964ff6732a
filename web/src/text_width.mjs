// How wide a text is, without a canvas to measure it on. Vega's own guess (0.8 em a character) leaves
// holes in legends; this one follows the advance widths of DejaVu Sans, the widest of the fonts
// that a figure may be shown in, so that no label is ever cut off.
const classes = [
  [/[ijlI.,:;'|!]/, 0.32],
  [/[ ()[\]frt\-\u00b7]/, 0.39],
  [/[mMwW%@\u2265\u00d7]/, 0.92],
  [/[A-Z]/, 0.7],
];
const ordinary = 0.62;

const emsOf = (character) => (classes.find(([pattern]) => pattern.test(character)) ?? [0, ordinary])[1];

export function textWidth(item, text) {
  const size = item.fontSize ?? 11;
  const bold = item.fontWeight === 'bold' || item.fontWeight >= 600 ? 1.1 : 1;
  let ems = 0;
  for (const character of String(text ?? '').trim()) ems += emsOf(character);
  const width = ems * size * bold;
  // Vega cuts longer texts at their limit, but asks before it does.
  return item.limit > 0 ? Math.min(width, item.limit) : width;
}
