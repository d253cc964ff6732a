// A run's state as a small mark: colour and shape both say it, so neither has to be seen alone.
const lightColors = new Map(Object.entries({
  solved: '#009E73', done: '#6B747D', running: '#0072B2', waiting: '#6B747D', interrupted: '#B07800', diverged: '#B5528B', failed: '#D55E00', cancelled: '#7A828B',
}));
const darkColors = new Map(Object.entries({
  solved: '#1DBF93', done: '#98A1AB', running: '#6DC1F5', waiting: '#8A939C', interrupted: '#F0B02E', diverged: '#DC93BC', failed: '#E8743B', cancelled: '#98A1AB',
}));

export const stateColor = (state: string, dark: boolean): string => (dark ? darkColors : lightColors).get(state) ?? (dark ? '#98A1AB' : '#7A828B');

// Centred at (x, y), about 2 r wide. Attributes only: it must look the same in a saved file.
export function StateMark({ state, x, y, r, dark }: { state: string; x: number; y: number; r: number; dark: boolean }) {
  const color = stateColor(state, dark);
  const ground = dark ? '#1B2026' : '#FFFFFF';
  const line = { fill: 'none', stroke: color, 'stroke-width': 1.8, 'stroke-linecap': 'round' } as const;
  switch (state) {
    case 'solved': return <circle cx={x} cy={y} r={r} fill={color} stroke={ground} stroke-width={0.8} />;
    case 'running': return (
      <g>
        <circle cx={x} cy={y} r={r - 0.4} fill={ground} stroke={color} stroke-width={1.8} />
        <circle cx={x} cy={y} r={r * 0.4} fill={color} />
      </g>
    );
    case 'waiting': return <circle cx={x} cy={y} r={r * 0.62} fill="none" stroke={color} stroke-width={1} />;
    case 'interrupted': return <path d={`M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`} fill={ground} stroke={color} stroke-width={1.6} />;
    case 'diverged': return <path d={`M${x} ${y - r * 1.15}L${x + r} ${y + r * 0.8}H${x - r}Z`} fill={color} stroke={ground} stroke-width={0.8} />;
    case 'failed': return <path d={`M${x - r * 0.8} ${y - r * 0.8}L${x + r * 0.8} ${y + r * 0.8}M${x - r * 0.8} ${y + r * 0.8}L${x + r * 0.8} ${y - r * 0.8}`} {...line} stroke-width={2.2} />;
    case 'unread': return <circle cx={x} cy={y} r={r * 0.25} fill={color} />;
    case 'cancelled': return <path d={`M${x - r * 0.8} ${y}H${x + r * 0.8}`} {...line} />;
    default: return <rect x={x - r * 0.72} y={y - r * 0.72} width={1.44 * r} height={1.44 * r} fill={color} stroke={ground} stroke-width={0.8} />;
  }
}
