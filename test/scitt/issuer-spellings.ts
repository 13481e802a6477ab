/** Other spellings of a name, each of which some reader takes for the same: how it is spelled, and the name. */
export function spellingsOf(name: string): [string, string][] {
  const [first, rest] = [name.slice(0, -1), name.slice(-1)];
  const encoded = (text: string) =>
    [...text].map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  const common: [string, string][] = [
    ['as it is', name],
    ['in capitals', name.toUpperCase()],
    ['with a trailing slash', `${name}/`],
    ['with a letter encoded', first + encoded(rest)],
    ['encoded whole', encoded(name)],
    ['encoded twice', encoded(encoded(name))],
    ['with a zero-width space', `${first}\u200b${rest}`],
    ['with a zero-width joiner', `${first}\u200d${rest}`],
    ['with a byte order mark', `\ufeff${name}`],
    ['with a soft hyphen', `${first}\u00ad${rest}`],
    ['with a variation selector', `${first}\ufe0f${rest}`],
    ['with a direction mark', `\u202e${name}\u202c`],
    ['with an encoded zero-width space', `${first}%E2%80%8B${rest}`],
    ['with a space before it', ` ${name}`],
    ['with a line feed behind it', `${name}\n`],
    ['in full-width letters', name.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))],
    ['with a query', `${name}?a`],
    ['with a fragment', `${name}#key`],
  ];
  return [...common, ...(name.startsWith('did:') ? didSpellings(name) : urlSpellings(name))];
}

function didSpellings(name: string): [string, string][] {
  const [, , host = '', ...path] = name.split(':');
  const did = (authority: string, ...segments: string[]) => ['did', 'web', authority, ...segments].join(':');
  const [bare = '', port] = decodeURIComponent(host).split(':');
  return [
    ['with its port behind %3a', did(port ? `${bare}%3a${port}` : bare, ...path)],
    ['with its port behind a colon', did(port ? `${bare}:${port}` : bare, ...path)],
    ['with its port behind %253A', did(port ? `${bare}%253A${port}` : bare, ...path)],
    ['with a dot behind its host', did(port ? `${bare}.%3A${port}` : `${bare}.`, ...path)],
    ['with its host in capitals', did(host.toUpperCase(), ...path)],
    ['with slashes for colons', `did:web:${[host, ...path].join('/')}`],
    ['with a trailing colon', `${name}:`],
    ['with an empty segment', did(host, '', ...path)],
    ['with a dot segment', did(host, '.', ...path)],
    ['with a segment and back', did(host, 'x', '..', ...path)],
    ['with an encoded segment separator', did(host, path.join('%3A'))],
    ['with parameters', `${name};a=b`],
    ['as one below it', `${name}:0190a8c0-0000-7000-8000-0000000000c1`],
    ['as one below it, behind a slash', `${name}/0190a8c0-0000-7000-8000-0000000000c1`],
  ];
}

function urlSpellings(name: string): [string, string][] {
  const [, scheme = '', authority = '', path = ''] = /^(https?):\/\/([^/]*)(.*)$/.exec(name)!;
  const [host = '', port] = authority.split(':');
  return [
    ['with the other scheme', `${scheme === 'http' ? 'https' : 'http'}://${authority}${path}`],
    ['with its host in capitals', `${scheme}://${authority.toUpperCase()}${path}`],
    ['with a dot behind its host', `${scheme}://${host}.${port ? `:${port}` : ''}${path}`],
    ['with a leading zero in its port', port ? `${scheme}://${host}:0${port}${path}` : name],
    ['with somebody before its host', `${scheme}://a:b@${authority}${path}`],
    ['with backslashes', `${scheme}:\\\\${authority}${path}`],
    ['with one slash', `${scheme}:/${authority}${path}`],
    ['with two slashes behind it', `${name}//`],
    ['with dot segments', `${scheme}://${authority}/./x/..${path}`],
    ['as one below it', `${name}/tenant`],
  ];
}
