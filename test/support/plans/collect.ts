// Runs in Node, beside the runtime: what test files say about the statements that were made in them arrives here.
import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Request, Response } from 'miniflare'
import { type Plans, readNotTried, readPlans } from './files.ts'
import { keyOfMade, staleOf, unknownOf } from './merge.ts'
import type { Made } from './record.ts'

/** What one test file says at its end. */
export interface FileReport {
  file: string
  made: Made[]
  /** Its requests are made up by chance, so no list has all of its statements. */
  byChance: boolean
}

const ROOT = join(import.meta.dirname, '../../..')
const known = readPlans()
const notTried = new Set(readNotTried())
const said = new Set<string>()
const made = new Set<string>()

/**
 * `/golden` answers with the plans that are to be, `/plans` takes those that are, and anything else is the report of a test file, which gets the
 * faults that were found. `npm run plans` names files for both instead.
 */
export async function answerPlans(request: Request): Promise<Response> {
  const { PLANS_RECORDED, PLANS_DRAFT, PLANS_RESULT } = process.env
  const { pathname } = new URL(request.url)
  if (pathname === '/golden') return Response.json(PLANS_DRAFT ? JSON.parse(readFileSync(PLANS_DRAFT, 'utf8')) : known)
  const text = await request.text()
  if (pathname === '/plans') {
    if (PLANS_RESULT) writeFileSync(PLANS_RESULT, text)
    return Response.json(Boolean(PLANS_RESULT || PLANS_RECORDED))
  }
  if (PLANS_RECORDED) {
    appendFileSync(PLANS_RECORDED, `${text}\n`)
    return Response.json([])
  }
  return Response.json(PLANS_RESULT ? [] : faultsOf(known, JSON.parse(text) as FileReport))
}

function faultsOf(plans: Plans, report: FileReport): string[] {
  const file = relative(ROOT, report.file)
  said.add(file)
  for (const one of report.made) made.add(keyOfMade(one))
  const isJudged = !report.byChance && !notTried.has(file)
  const faults = (isJudged ? unknownOf(plans, report.made) : []).map(
    ({ site, text }) => `new statement in ${site}, to be added by \`npm run plans -- ${file}\`: ${text}`,
  )
  // What went shows only in the last of all files.
  if (notTried.size > 0 || made.size === 0 || said.size < allFiles().length) return faults
  return [...faults, ...staleOf(plans, made).map((one) => `no test makes this any more, so take it out (\`npm run plans\`): ${one}`)]
}

const allFiles = () => globSync('test/worker/**/*.test.ts', { cwd: ROOT })
