// Builds after `npm ci`. An installation without development packages has no compiler and keeps the build it has.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (existsSync('node_modules/typescript')) execFileSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' });
