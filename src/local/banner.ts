import type { DemoFile } from './data-dir.ts'

/** What a person needs to know once everything runs. The curl line has to work when pasted into a shell as it is. */
export function banner(
  demo: DemoFile,
  facts: { readyMs: number; consoleLink: string; demoFile: string; logs: string; warning?: string; notEnforced?: readonly string[] },
): string {
  const lines = [
    '',
    `  podplane is ready (${(facts.readyMs / 1000).toFixed(1)} s)`,
    '',
    `  URL        ${demo.url}`,
    `  Console    ${demo.url}${facts.consoleLink}`,
    '             (signs in once)',
    `  API docs   ${demo.url}/docs`,
    `  API key    ${demo.apiKey}`,
    `  Endpoint   ${demo.endpointId}  (echo)`,
    '',
    '  Run a job:',
    '',
    curlLine(demo),
    '',
    '  Or from the command line, in this directory:  npx podplane pods list',
    '',
    `  For scripts  ${facts.demoFile}`,
    `  Logs         ${facts.logs}`,
    ...notEnforcedLines(facts.notEnforced ?? []),
    '',
    '  Ctrl-C stops everything.',
    '',
  ]
  if (facts.warning !== undefined) lines.splice(2, 0, `  Note: ${facts.warning}`)
  return lines.join('\n')
}

/** What this machine does not hold against strangers, a word each; the operator API has the sentences. */
function notEnforcedLines(missing: readonly string[]): string[] {
  if (missing.length === 0) return []
  const topics = new Set(missing.map((text) => text.split(':')[0]))
  return ['', `  For yourself and people you trust. Not enforced here: ${[...topics].join(', ')}.`, '  More:  npm run admin -- hosts list']
}

function curlLine(demo: DemoFile): string {
  return `curl -sS '${demo.url}/v2/${demo.endpointId}/runsync' -H 'Authorization: Bearer ${demo.apiKey}' -H 'Content-Type: application/json' -d '{"input":{"prompt":"Hello"}}'`
}

/** What to say when this machine cannot keep the containers of several accounts apart (HOST-86); undefined: it does, or runs none. */
export function describeOpenNetwork({
  network,
  networkReason,
}: {
  network: boolean | null
  networkReason: string | null
}): string | undefined {
  if (network !== false) return undefined
  const reason = networkReason === null ? '' : ` (${networkReason})`
  return `containers reach one another, this machine and its network${reason}; give keys to people you trust only`
}
