// The dashboard of `mneme serve`.
import { render } from 'preact';

import { startKeyboard } from './keyboard';
import { start } from './live';
import { Shell } from './shell';
import { startTheme } from './theme';

startTheme();
startKeyboard();
start();
const place = document.getElementById('app');
if (place) {
  place.replaceChildren();
  render(<Shell />, place);
}
