import type { RecordedEvent } from './recorded-event.js';

/** The attributes that say where in a conserver something happened, or with whom. */
const ATTRIBUTES = {
  chain: ['conserver_chain'],
  link: ['conserver_link_name', 'conserver_link'],
  partner: ['partner'],
} as const;

/** The names that these events have, each once, as the conserver calls them. */
export function namesIn(events: readonly RecordedEvent[], of: keyof typeof ATTRIBUTES): string[] {
  const values = events.flatMap(({ attributes }) => ATTRIBUTES[of].map((name) => attributes[name]));
  const names = values.filter((value) => typeof value === 'string' && value !== '').map(decoded);
  return [...new Set(names)].sort();
}

function decoded(name: unknown): string {
  const text = String(name);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
