import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliDocument } from '../src/cli/document.ts'
import { PROJECT_ROOT } from '../src/local/paths.ts'

// Generates docs/cli.md from the command tree.

writeFileSync(join(PROJECT_ROOT, 'docs/cli.md'), cliDocument())
