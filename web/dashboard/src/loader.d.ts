declare module '*/loader.mjs' {
  import type { Loader } from 'vega';
  export const refusingLoader: Loader;
}
