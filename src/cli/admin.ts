import { normalizeArguments } from './core/arguments.ts'
import { runAsProcess } from './process.ts'

// `npm run admin -- …` is `podplane admin …`, from a checkout (CMD-50). The arguments are normalized before `admin` is prepended: behind a
// command, `--json` would take the next word as its value.
await runAsProcess(['admin', ...normalizeArguments(process.argv.slice(2))])
