import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { OperationMetrics } from '../capture/capture-metrics.js';
import { recordEnding } from '../endings/record-ending.js';
import type { Memory } from '../memory/memory.js';
import type { EndingFound } from '../operation/ending.js';
import { recordedLabel } from '../operation/recorded-labels.js';
import type { PluginSettings } from '../settings/plugin-settings.js';
import { RecordError } from '../stream/stream-record.js';
import type { EventsAbout } from '../tap/capture-gaps.js';
import type { LabelSecret } from './admit-operation.js';

interface EndingParts {
  readonly settings: PluginSettings;
  readonly backend: QueueBackend;
  readonly memory: Memory;
  readonly eventsAbout: EventsAbout;
  readonly labelSecret: LabelSecret;
  readonly metrics: Pick<OperationMetrics, 'captured' | 'unknownEnding'>;
  readonly logger: Logger;
}

/**
 * Returns what stores the end of a vCon for delivery, and counts it.
 * It rejects with {@link RecordError} when the vCon's last hash can neither be remembered nor read from the service.
 */
export function endingRecorder(parts: EndingParts): (found: EndingFound) => Promise<void> {
  const { settings, backend, memory, eventsAbout, labelSecret, metrics, logger } = parts;
  const label = (name: string, tenancy: string | undefined): string =>
    recordedLabel(name, labelSecret(tenancy) ?? settings.clientSecret);
  const lastEvents: EventsAbout = async (uuid) => {
    // With several tenancies, the service's events do not show which of them the vCon belongs to.
    if (settings.tenanciesFile !== undefined) return [];
    try {
      return await eventsAbout(uuid);
    } catch (error) {
      logger.warn(
        { err: error },
        'the last hash of an ended vCon could not be read from the service: its end is set aside',
      );
      // Set aside, because the entries behind it must not wait for the service.
      throw new RecordError('its last hash is not remembered here, and the service does not answer');
    }
  };
  return async (found) => {
    const outcome = await recordEnding({ backend, memory, label, lastEvents }, found);
    if (outcome === 'recorded') metrics.captured(found.ending);
    else if (outcome === 'unknown') metrics.unknownEnding();
    else if (outcome === 'back')
      logger.warn(
        { uuid: found.uuid, ending: found.ending },
        'a vCon was captured again since its end was found: that end is not recorded',
      );
  };
}
