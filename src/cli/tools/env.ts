import { usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'

interface Facts {
  url: string
  key: string
  endpoint: string
}

/** Output for each program; values of environment variables are quoted for a shell. */
const PROGRAMS: Readonly<Record<string, (facts: Facts) => string>> = {
  runpodctl: ({ url, key }) => exports({ RUNPOD_GRAPHQL_URL: `${url}/graphql`, RUNPOD_API_URL: `${url}/v1`, RUNPOD_API_KEY: key }),
  python: ({ url, key }) => exports({ RUNPOD_API_BASE_URL: url, RUNPOD_ENDPOINT_BASE_URL: `${url}/v2`, RUNPOD_API_KEY: key }),
  js: ({ url, key }) =>
    `// npm i runpod-sdk\nexport default { apiKey: ${JSON.stringify(key)}, options: { baseUrl: ${JSON.stringify(`${url}/v2`)} } }`,
  flash: ({ url, key }) =>
    exports({ RUNPOD_API_BASE_URL: url, RUNPOD_ENDPOINT_BASE_URL: `${url}/v2`, RUNPOD_REST_API_URL: `${url}/v1`, RUNPOD_API_KEY: key }),
  terraform: ({ url, key }) => exports({ RUNPOD_BASE_URL: `${url}/v2`, RUNPOD_GRAPHQL_URL: `${url}/graphql`, RUNPOD_API_KEY: key }),
  mcp: ({ url, key }) => JSON.stringify({ mcpServers: { podplane: mcpServer(url, key) } }, null, 2),
  openai: ({ url, key, endpoint }) => exports({ OPENAI_BASE_URL: `${url}/v2/${endpoint}/openai/v1`, OPENAI_API_KEY: key }),
}

function mcpServer(url: string, key: string) {
  return {
    command: 'npx',
    args: ['-y', '@runpod/mcp-server@4.0.0'],
    env: {
      RUNPOD_API_KEY: key,
      RUNPOD_API_BASE_URL: url,
      RUNPOD_SERVERLESS_API_URL: `${url}/v2`,
      RUNPOD_PUBLIC_GRAPHQL_URL: `${url}/graphql`,
      RUNPOD_AUTHED_GRAPHQL_URL: `${url}/graphql`,
    },
  }
}

function exports(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`)
    .join('\n')
}

/** Prints the settings that point another program to this plane (CMD-42). Throws a usage error for an unknown program. */
export function printEnv(session: Session, { for: program, endpoint }: { for: string; endpoint?: string }): void {
  const write = PROGRAMS[program]
  if (write === undefined) throw usage(`--for ${program}: it must be one of ${Object.keys(PROGRAMS).join(', ')}`)
  if (program === 'openai' && endpoint === undefined) throw usage('openai needs one endpoint', 'add --endpoint <id>')
  session.out.lines([write({ url: session.target.url, key: session.key, endpoint: endpoint ?? '' })])
}
