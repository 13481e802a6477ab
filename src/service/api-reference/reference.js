/* global SwaggerUIBundle */
// Runs in the reader's browser. Swagger UI leaves some form controls without a name; screen readers need one.
function nameControls(root) {
  for (const select of root.querySelectorAll('select:not([aria-label])')) {
    const row = select.closest('tr, .opblock-section-header, .responses-inner, .scheme-container');
    const label = row?.querySelector('.parameter__name, label, h4')?.textContent ?? 'choice';
    select.setAttribute('aria-label', label.trim());
  }
  for (const field of root.querySelectorAll('input:not([aria-label]):not([type=submit]), textarea:not([aria-label])')) {
    const row = field.closest('tr, .wrapper, .auth-container, .opblock-body, .filter');
    const label = row?.querySelector('.parameter__name, label')?.textContent ?? field.placeholder ?? 'value';
    field.setAttribute('aria-label', label.trim() || 'value');
  }
  for (const button of root.querySelectorAll('button.close-modal:not([aria-label])'))
    button.setAttribute('aria-label', 'Close');
  for (const block of root.querySelectorAll('pre:not([tabindex])')) block.tabIndex = 0;
  // What a button shows is its name: somebody who speaks it must reach it.
  for (const button of root.querySelectorAll('button[aria-label].modal-btn')) button.removeAttribute('aria-label');
}

// Swagger UI has a dark theme behind a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const show = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', show);
show();

const root = document.getElementById('reference');
new MutationObserver(() => nameControls(root)).observe(root, { childList: true, subtree: true });

// Requests go where this page came from, which may be below a path: PUBLIC_URL may name another address, which the page
// may not ask.
const HERE = new URL('.', location.href).href.replace(/\/$/, '');

function fromHere(description) {
  const elsewhere = description.servers[0].url;
  const { flows } = description.components.securitySchemes.clientCredentials;
  flows.clientCredentials.tokenUrl = flows.clientCredentials.tokenUrl.replace(elsewhere, HERE);
  return { ...description, servers: [{ url: HERE }] };
}

const answer = await fetch(`${HERE}/openapi.json`);
SwaggerUIBundle({
  spec: fromHere(await answer.json()),
  domNode: root,
  // The default may ask somebody else's validator about this document.
  validatorUrl: null,
  syntaxHighlight: { activated: false },
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
});
