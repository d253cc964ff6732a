// What the server sends (docs/serve.md). Fields that an older server may lack are optional; everything else a view reads
// goes through `?? `, because a lab in use always has runs that are only half there.

export type Scalar = string | number | boolean | null;
export type Point = Record<string, Scalar>;

export type RunState = 'waiting' | 'running' | 'solved' | 'done' | 'failed' | 'diverged' | 'interrupted' | 'cancelled' | 'new' | 'unread';

export interface Counts {
  planned: number;
  done: number;
  running: number;
  waiting: number;
  interrupted: number;
  failed: number;
  diverged: number;
  cancelled: number;
}

export interface StudyLine extends Counts {
  key: string;  // name and scale: what an address names
  name: string;
  title: string;
  scale: string;
  seconds_left: number | null;
  last_change: number | null;
}

export interface Worker {
  run: string;
  mixer: string;
  task?: string;
  lr: number | null;
  seed: number | null;
  step: number | null;
  steps: number | null;
  loss: number | null;
  accuracy: number | null;
  tokens_per_second: number | null;
  seconds_left: number | null;
}

export interface Ended {
  run: string;
  mixer: string;
  lr: number | null;
  seed: number | null;
  state?: string;
  accuracy?: number | null;
  reason?: string | null;
  time?: number | null;
}

export interface VerdictNumbers {
  confirmed: number;
  contradicted: number;
  undecided: number;
  not_run: number;
}

export interface PaperItem extends VerdictNumbers {
  item: string;
  title: string;
  paper: string;  // its letter
  study: string;
  scale: string;
  kept_runs: number;
  ended_runs: number;
  planned_runs: number;
  trouble?: string;
}

// What a node of a cluster has told of itself.
export interface ClusterNode {
  task: number;
  node: string;
  state: string;
  note: string;
  told: number;
  workers: number;
  tokens_per_second: number;
  ended: number;
}

export interface ClusterJob {
  job: string;
  study: string;
  scale: string;
  user: string;
  cancelled: boolean;
  runs: number;
  nodes: ClusterNode[];
}

export interface Lab {
  generation: number;
  lab: string;
  mneme: string;
  code: string;
  trouble?: string | null;
  machine: { host: string; processors: number; load: number[] | number | null; memory_total: number | null; memory_free: number | null };
  jobs?: ClusterJob[];
  runs?: Record<string, number>;
  studies: StudyLine[];
  workers: Worker[];
  failures?: Ended[];
  recent?: Ended[];
  damaged?: string[];
  notices?: string[];
  papers_ready?: boolean;
  papers: PaperItem[];
}

export interface TableData {
  title?: string;
  note?: string;
  columns: (string | Column)[];
  rows: Scalar[][];
  csv?: string; // the same for programs: every digit, one value a column
}

export interface FigureData {
  name: string;
  kind?: string;
  title?: string;
  caption?: string;
  spec: Record<string, unknown> | null;
  tables?: TableData[];
  findings?: string[];
}

export interface Claim {
  id: string;
  statement: string;
  verdict: string;
  reason?: string | null;
  numbers?: string | null;
  size?: string | null;
  where?: string | null;
  words?: string | null;
  rule?: string | null;
}

export interface Cell {
  run: string | null;
  point: Point;
  seed: number | null;
  state: RunState;
  accuracy: number | null;
}

export interface BestCell {
  point: Point;
  runs: number | string[];
  accuracy: number | null;
  least?: number | null;
  most?: number | null;
  validation?: number | null;
}

export interface Study extends StudyLine {
  generation: number;
  solved_at?: number | null;
  axes: { key: string; values: Scalar[] }[];
  cells: Cell[];
  figures: FigureData[];
  figures_trouble?: string | null;
  figures_pending?: boolean;
  best: BestCell[];
  cost: { seconds: number | null; flops: number | null; tokens?: number | null; seconds_to_go: number | null; flops_to_go?: number | null } | null;
  claims: Claim[];
}

export type Unit = '' | 'steps' | 's' | 'fraction' | 'time';
export interface Column {
  key: string;
  type?: 'text' | 'number' | 'state';
  unit?: Unit;
}

export interface Runs {
  generation: number;
  columns: Column[];
  rows: Scalar[][];
  matching?: number;
  total?: number;
  partial?: boolean;
}

export interface Curves {
  columns: string[];
  rows: (number | null)[][];
}

export interface Scores {
  loss?: number | null;
  accuracy?: number | null;
  exact_match?: number | null;
}

export interface Signal {
  name: string;
  input: number[];
  target: number[];
  output: number[];
}

export interface Inspection {
  sections?: { title: string; sentences?: string[]; figures?: FigureData[]; tables?: TableData[] }[];
  figures?: FigureData[];
}

// What `mneme evaluate` has found: points along an axis of the task, or one with other options.
export interface Evaluation {
  name: string;
  step?: number | null;
  axis: string | null;
  task?: Record<string, Scalar> | null;
  points: ({ value: number | null; length?: number | null; examples?: number | null; notes?: string[] | null } & Scores)[];
  trouble: string | null;
}

export interface Run {
  generation: number;
  id: string;
  state: RunState;
  outcome: string | null;
  reason: string | null;
  tags?: string[];
  note?: string;
  step: number | null;
  steps: number | null;
  config: Record<string, unknown>;
  differs: { key: string; value: Scalar; others: Scalar[] }[];
  studies: { key: string; title?: string; scale?: string }[];
  attempts: { number: number; deaths: number; holder?: string } | null;
  environment: Record<string, unknown> | null;
  code?: string[];
  log: string[];
  validation: Scores | null;
  test: Scores | null;
  best: { step?: number | null; accuracy?: number | null } | null;
  parameters: number | null;
  weights_sha256?: string | null;
  times: Record<string, number | string | null> | null;
  generalisation: { axis: string; points: ({ value: number } & Scores)[] } | null;
  phases?: Record<string, unknown> | null;
  traces: Signal[] | null;
  inspect: Inspection | null;
  evaluations?: Evaluation[];
}

export interface ComparedRun {
  id: string;
  state?: string;
  label: string;
  point: Point;  // what differs among the runs, without the seed
  seed: number | null;
  curves: Curves;
}

export interface Comparison {
  runs: ComparedRun[];
  differs: { key: string; values: Scalar[] }[];
  parts: { a: string; b: string; step: number | null }[];
}

export interface Papers {
  generation: number;
  ready?: boolean;
  papers: { letter: string; title: string }[];
  items: PaperItem[];
}

export interface PaperPage extends Omit<PaperItem, 'paper'> {
  generation: number;
  what: string;
  also?: string[];
  paper: { letter: string; title: string };
  scales: { name: string; kept: boolean }[];
  figures: FigureData[];
  figures_trouble?: string | null;
  claims: Claim[];
  says: { about: string; shown: string; value: number | null; passes: boolean | null; ours?: Scalar }[];
  settings: { key: string; ours: Scalar; paper: Scalar }[];
  sizes: TableData | null;
}

// How far a server that has just started has read the lab.
export interface Reading {
  read: number;
  of: number;
}

export interface LiveEvent {
  generation: number;
  runs: string[];
  studies: string[];
  papers: boolean;
  more: boolean;  // than these runs
  reading: Reading | null;
  trouble: string | null;  // with the lab as a whole
}
