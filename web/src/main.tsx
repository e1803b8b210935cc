import { render } from 'preact';
import { begin, watchTime } from './live';
import { applyTheme, preferences } from './preferences';
import { watchWidth } from './view/fleet';
import { Shell, watchKeys, watchRoute } from './view/shell';

applyTheme(preferences.value.theme);
watchRoute();
watchWidth();
watchKeys();
watchTime();
const root = document.getElementById('app');
if (root !== null) {
  root.textContent = '';
  render(<Shell />, root);
}
void begin();
