// What the server answers to a comparison, put together from the files of a static export.
import { address } from '../client';
import { firstDifference } from '../curves';
import { pointText } from '../format';
import type { ComparedRun, Comparison, Curves, Point, Run, Scalar } from '../types';

// {"a": {"b": 1}} is {"a.b": 1}.
export function flatten(tree: unknown, prefix = ''): Record<string, Scalar> {
  if (tree === null || typeof tree !== 'object') return { [prefix]: tree as Scalar };
  if (Array.isArray(tree)) return { [prefix]: JSON.stringify(tree) };
  return Object.assign({}, ...Object.entries(tree).map(([key, value]) => flatten(value, prefix ? `${prefix}.${key}` : key)));
}

export async function compareFiles(ids: string[], ask: <T>(where: string) => Promise<T>): Promise<Comparison> {
  const runs = await Promise.all(ids.map((id) => ask<Run>(address(['runs', id]))));
  const curves = await Promise.all(ids.map((id) => ask<Curves>(address(['runs', id, 'curves']))));
  const configs = runs.map((run) => flatten(run.config));
  const keys = [...new Set(configs.flatMap((config) => Object.keys(config)))].sort();
  const differs = keys.map((key) => ({ key, values: configs.map((config) => config[key] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== values[0]));
  const compared: ComparedRun[] = runs.map((run, index) => {
    const config = configs[index] ?? {};
    const point: Point = Object.fromEntries(differs.filter(({ key }) => !key.endsWith('.seed')).map(({ key, values }) => [key, values[index] ?? null]));
    const mixer = config['model.mixer'] ?? null;
    return {
      id: run.id,
      state: run.state,
      label: pointText({ 'model.mixer': mixer, ...point }),
      point,
      seed: typeof config['train.seed'] === 'number' ? config['train.seed'] : null,
      curves: curves[index] as Curves,
    };
  });
  return { runs: compared, differs, parts: partsOf(compared) };
}

// Every two runs, once.
export function partsOf(runs: ComparedRun[]): Comparison['parts'] {
  return runs.flatMap((a, i) => runs.slice(i + 1).map((b) => ({ a: a.id, b: b.id, step: firstDifference(a.curves, b.curves) })));
}
