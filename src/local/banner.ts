import type { DemoFile } from './data-dir.ts'

/** The text for the user once everything runs. The curl line must work when it is pasted into a shell. */
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

/** Names the isolation that this machine does not enforce between tenants, one word each; the operator API has full sentences. */
function notEnforcedLines(missing: readonly string[]): string[] {
  if (missing.length === 0) return []
  const topics = new Set(missing.map((text) => text.split(':')[0]))
  return [
    '',
    `  For yourself and people you trust. Not enforced here: ${[...topics].join(', ')}.`,
    '  Before others use it: docs/SECURITY.md.  Details:  npm run admin -- hosts list',
  ]
}

function curlLine(demo: DemoFile): string {
  return `curl -sS '${demo.url}/v2/${demo.endpointId}/runsync' -H 'Authorization: Bearer ${demo.apiKey}' -H 'Content-Type: application/json' -d '{"input":{"prompt":"Hello"}}'`
}

/**
 * Returns a warning if this machine cannot isolate the networks of several accounts' containers (HOST-86); undefined if it can, or runs no
 * containers.
 */
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
