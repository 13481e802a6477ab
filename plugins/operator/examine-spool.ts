import type { Clock } from '../../src/platform/clock.js';
import { failureReason } from '../../src/platform/explain-failure.js';
import { spoolState } from '../capture/spool-folder.js';
import { broken, type Finding, ok, shouldChange } from './finding.js';

/** The plugin hands a file over within a second or two when its queue answers. */
const LATE_SECONDS = 60;

/** Checks whether operations wait on the local disk, which a running plugin delivers. Never throws. */
export async function examineSpool(folder: string, clock: Clock): Promise<Finding[]> {
  try {
    const { depth, oldestSeconds, setAside } = await spoolState(folder, clock.now());
    const waiting = `${depth} wait in ${folder}`;
    const minutes = Math.round(oldestSeconds / 60);
    const findings = [
      oldestSeconds > LATE_SECONDS
        ? shouldChange(
            'spool',
            `${waiting}, the oldest for ${minutes} min`,
            'start the plugin, and check that its queue responds',
          )
        : ok('spool', depth === 0 ? 'nothing waits on the local disk' : waiting),
    ];
    if (setAside.length === 0) return findings;
    const change = 'vcon-archivist queue; then queue replay';
    return [...findings, shouldChange('spool files', `${setAside.length} cannot be read as operations`, change)];
  } catch (error) {
    return [broken('spool', `not looked at: ${failureReason(error)}`, `make ${folder} readable`)];
  }
}
