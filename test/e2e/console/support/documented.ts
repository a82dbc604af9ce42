import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../../../src/local/paths.ts'

const DOCUMENTS = ['v2', 'admin-v1', 'console']
/** The files of the console itself, and the path to which an identity provider redirects. */
const OWN = /^(GET|HEAD) \/(console(\/.*)?|favicon\.ico)$/

const operations = DOCUMENTS.flatMap((name) => {
  const { paths } = JSON.parse(readFileSync(join(PROJECT_ROOT, `docs/openapi-${name}.json`), 'utf8')) as {
    paths: Record<string, Record<string, unknown>>
  }
  return Object.entries(paths).flatMap(([path, methods]) => {
    const pattern = path.replaceAll(/[.*+?^$|()[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')
    return Object.keys(methods).map((method) => new RegExp(`^${method.toUpperCase()} ${pattern}$`))
  })
})

/** The OpenAI API of an endpoint, whose paths are the workers' own (OAI-1). */
const OPENAI = /^POST \/v2\/[^/]+\/openai\/v1\/chat\/completions$/

/** Requests to the plane that no document describes: the console has no private API (UI-70). */
export function undocumented(requests: readonly string[]): string[] {
  return [...new Set(requests)].filter(
    (request) => !OWN.test(request) && !OPENAI.test(request) && !operations.some((pattern) => pattern.test(request)),
  )
}
