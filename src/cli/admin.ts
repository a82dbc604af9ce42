import { normalizeArguments } from './core/arguments.ts'
import { runAsProcess } from './process.ts'

// `npm run admin -- …` is `podplane admin …`, from a checkout (CL-50).

// Bound to what it takes before the noun is put in front, behind which it would take a word.
await runAsProcess(['admin', ...normalizeArguments(process.argv.slice(2))])
