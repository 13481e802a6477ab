import { spoolFolder } from '../capture/spool-folder.js';
import { pluginFolder } from '../memory/open-memory.js';

/** The folder in `DATA_DIR` in which operations wait for the queue. */
export function spoolPlace(dataDir: string): string {
  return spoolFolder(pluginFolder(dataDir));
}
