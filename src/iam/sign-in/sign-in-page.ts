import type { Reply } from '../../platform/http/route.js';

/** A small page without scripts or external content. @param parts HTML; text that users typed is already escaped */
export function signInPage(title: string, parts: readonly string[]): Pick<Reply, 'bytes' | 'contentType' | 'headers'> {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color: #222; }
input, button { font: inherit; padding: .3rem .6rem; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } a { color: #8ab4f8; } }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${parts.join('\n')}
</body>
</html>
`;
  return {
    bytes: new TextEncoder().encode(html),
    contentType: 'text/html; charset=utf-8',
    headers: { 'cache-control': 'no-store' },
  };
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
