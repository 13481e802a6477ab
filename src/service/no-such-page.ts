import { escaped, smallPage } from '../platform/http/small-page.js';

/** The page for a person whose address leads to nothing: the service's words, and where to go on. */
export function noSuchPage(description: string, path: string): string {
  // Relative, because the service may be below a path of its host.
  const up = '../'.repeat(Math.max(0, path.split('/').length - 2));
  return smallPage('Not found', [
    `<p>${escaped(description)}</p>`,
    '<p>Check the address that you opened.</p>',
    '<ul>',
    `<li><a href="${up}console">Find a conversation</a>, see what happened to it, and check it</li>`,
    `<li><a href="${up}verify">Check evidence</a> in your browser: nothing is uploaded</li>`,
    `<li><a href="${up}docs">API reference</a></li>`,
    '</ul>',
  ]);
}
