// What the compiler leaves behind: migrations, and the files of the API reference with those of Swagger UI.
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

cpSync('src/migrations', 'dist/src/migrations', { recursive: true });

const page = 'src/service/api-reference';
mkdirSync(join('dist', page), { recursive: true });
for (const name of readdirSync(page)) if (!name.endsWith('.ts')) cpSync(join(page, name), join('dist', page, name));
const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'])
  cpSync(join(swagger, name), join('dist', page, name === name.toUpperCase() ? `swagger-ui.${name}` : name));
