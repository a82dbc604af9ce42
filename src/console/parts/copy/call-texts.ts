import { quoted } from '../../../client/shell.ts'

/** The call of a form or button as text for other tools. Pure. */

/** A call of the API that can be copied as text. */
export interface CopiedCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path from `/v2/…` on, with its query. */
  path: string
  body?: unknown
  /** Command of the command line, such as `pods stop abc`; left out where it has no command of its own. */
  command?: string
}

/** One or several calls for curl, Python and podplane. The key comes from the environment, as it does for other tools. */
export function copyAs(what: CopiedCall | readonly CopiedCall[], origin: string): { name: string; text: string }[] {
  const calls = 'method' in what ? [what] : what
  return [
    { name: 'podplane', text: calls.map(podplane).join('\n') },
    { name: 'curl', text: calls.map((call) => curl(call, origin)).join('\n') },
    { name: 'Python', text: ['import json, os, urllib.request', ...calls.map((call) => python(call, origin))].join('\n\n') },
  ]
}

function podplane(call: CopiedCall): string {
  return call.command === undefined ? apiCommand(call) : `podplane ${call.command}`
}

function apiCommand({ method, path, body }: CopiedCall): string {
  const data = body === undefined ? '' : ` --body ${quoted(JSON.stringify(body))}`
  return `podplane api ${method} ${quoted(path)}${data}`
}

function curl({ method, path, body }: CopiedCall, origin: string): string {
  const lines = [`curl -sS -X ${method} ${quoted(origin + path)}`, `  -H "Authorization: Bearer $PODPLANE_API_KEY"`]
  if (body !== undefined) lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`)
  return lines.join(' \\\n')
}

function python({ method, path, body }: CopiedCall, origin: string): string {
  const lines = [
    'request = urllib.request.Request(',
    `    ${JSON.stringify(origin + path)},`,
    `    method=${JSON.stringify(method)},`,
    `    headers={"Authorization": "Bearer " + os.environ["PODPLANE_API_KEY"], "Content-Type": "application/json"},`,
    ...(body === undefined ? [] : [`    data=json.dumps(json.loads(${JSON.stringify(JSON.stringify(body))})).encode(),`]),
    ')',
    'print(urllib.request.urlopen(request).read().decode())',
  ]
  return lines.join('\n')
}
