// Runs in Node, beside the runtime: collects the test files' reports of the statements that they made.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { type Request, Response } from 'miniflare'
import { readPlans } from './files.ts'
import type { Made } from './made.ts'

/** The report of one test file at its end. */
export interface FileReport {
  file: string
  made: Made[]
  /** Its requests are random, so no list has all of its statements. */
  byChance: boolean
}

const known = readPlans()

/**
 * `/golden` answers with the expected plans, `/plans` receives the actual ones, and any other path receives the report of a test file for
 * `npm run plans`.
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
  if (PLANS_RECORDED) appendFileSync(PLANS_RECORDED, `${text}\n`)
  return new Response()
}
