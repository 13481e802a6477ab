import { escaped, smallPage } from '../platform/http/small-page.js';

/** The page for a person whose address leads to nothing: the service's words, and where to go on. */
export function noSuchPage(description: string): string {
  return smallPage('Not found', [
    `<p>${escaped(description)}</p>`,
    '<p>Check the address that you opened.</p>',
    '<ul>',
    '<li><a href="/console">Find a conversation</a>, see what happened to it, and check it</li>',
    '<li><a href="/verify">Check evidence</a> in your browser: nothing is uploaded</li>',
    '<li><a href="/docs">API reference</a></li>',
    '</ul>',
  ]);
}
