// Numbers as a person reads them.
import { stateMeaning } from './palette';
import type { Scalar, Unit } from './types';

export const nothing = '–';

// Without zeros behind the point that say nothing.
const fixed = (value: number, digits: number): string => {
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
};

// Four significant digits, without an exponent where that is shorter.
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return grouped(value);
  if (size >= 1e5 || size < 1e-3) return shortExponent(value.toExponential(2));
  return fixed(value, Math.max(0, 3 - Math.floor(Math.log10(size))));
}

const shortExponent = (text: string): string => text.replace(/\.?0*e/, 'e').replace('e+', 'e');

// 1e-3, 3.2e-4.
export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing;
  return shortExponent(value.toExponential(2));
}

export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? nothing : grouped(Math.round(value));
}

export function percent(value: number | null | undefined, digits = 1): string {
  return value === null || value === undefined || !Number.isFinite(value) ? nothing : `${(100 * value).toFixed(digits)}\u202f%`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return nothing;
  if (seconds < 1) return seconds <= 0 ? '0 s' : `${Math.max(1, Math.round(1000 * seconds))} ms`;
  if (seconds < 60) return `${fixed(seconds, seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes - 60 * hours} min`;
  return `${fixed(hours / 24, hours < 240 ? 1 : 0)} days`;
}

const scales: [number, string][] = [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

// 1.2 G, 340 k.
export function short(value: number | null | undefined, unit = ''): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing;
  for (const [size, letter] of scales) {
    if (Math.abs(value) >= size) return `${fixed(value / size, value / size < 10 ? 1 : 0)} ${letter}${unit}`;
  }
  return `${fixed(value, Math.abs(value) < 10 ? 2 : 0)}${unit ? ` ${unit}` : ''}`;
}

export function ago(time: number | null | undefined, now = Date.now() / 1000): string {
  if (time === null || time === undefined) return nothing;
  const seconds = now - time;
  return seconds < 5 ? 'just now' : `${duration(Math.round(seconds))} ago`;
}

export function moment(time: number | null | undefined): string {
  if (time === null || time === undefined) return nothing;
  const date = new Date(1000 * time);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

// A stored value of any kind, as text.
export function value(stored: unknown, key = '', unit?: Unit): string {
  if (stored === null || stored === undefined) return nothing;
  if (typeof stored === 'boolean') return stored ? 'yes' : 'no';
  if (typeof stored === 'number') {
    if (unit === 'fraction') return percent(stored);
    if (unit === 's') return duration(stored);
    if (unit === 'time') return moment(stored);
    if (/(^|[._])(lr|learning_rate)$/.test(key)) return rate(stored);
    if (isSeed(key)) return String(stored);
    return number(stored);
  }
  if (typeof stored === 'string') return stored === '' ? nothing : stored;
  return JSON.stringify(stored);
}

// The last part of a path says enough in a table: model.mixer is mixer.
export const shortKey = (key: string): string => key.split('.').at(-1) ?? key;

// Seeds tell runs of one thing apart; some follow from others (train.dropout_seed).
export const isSeed = (key: string): boolean => /(^|[._])seed$/.test(key);
export const isDerivedSeed = (key: string): boolean => /_seed$/.test(key);

// "mamba, lr 1e-3, width 64": mixer first and by its name alone.
export function pointText(point: Record<string, Scalar>, without: string[] = []): string {
  const parts: string[] = [];
  for (const [key, stored] of Object.entries(point)) {
    if (without.includes(key) || stored === null) continue;
    if (shortKey(key) === 'mixer') parts.unshift(String(stored));
    else parts.push(`${shortKey(key)} ${value(stored, key)}`);
  }
  return parts.join(', ') || 'all runs';
}

// Why a run ended, in words where the trainer has only a name for it.
const reasons = new Map(Object.entries({
  budget: 'all its steps',
  threshold: 'stopped early: it reached the accuracy asked for',
  hopeless: 'given up: far from solving the task',
}));
export const reasonText = (reason: string | null | undefined): string => reasons.get(reason ?? '') ?? reason ?? '';

export const stateTitle = (state: string): string => stateMeaning.get(state) ?? '';
