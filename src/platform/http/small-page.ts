import { createHash } from 'node:crypto';

const STYLE = `
:root { color-scheme: light dark; --page: #f5f5f2; --text: #1b1f24; --soft: #565d66; --link: #17569b; }
@media (prefers-color-scheme: dark) { :root { --page: #14161a; --text: #e8eaed; --soft: #a6aeb8; --link: #8fbcf5; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color: var(--text); background: var(--page); overflow-wrap: anywhere; }
h1 { line-height: 1.2; }
a { color: var(--link); }
th { text-align: left; padding-right: 2rem; font-weight: normal; color: var(--soft); overflow-wrap: normal; vertical-align: top; }
input, button { font: inherit; padding: .3rem .6rem; max-width: 100%; }
`;

/** What a Content-Security-Policy must allow for the style of these pages. */
export const SMALL_PAGE_STYLE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * A small page without scripts or external content, light or dark as the reader prefers. It needs no more than the
 * content security policy of every response.
 * @param parts HTML; whatever comes from elsewhere in it is already `escaped`
 */
export function smallPage(title: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${parts.join('\n')}
</main>
</body>
</html>
`;
}

/** A text as HTML shows it. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
