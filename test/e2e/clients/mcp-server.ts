import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import type { TestPlane } from '../support/plane/plane.ts'

const require = createRequire(import.meta.url)
const MANIFEST = require.resolve('@runpod/mcp-server/package.json')
const ENTRY = join(dirname(MANIFEST), 'dist/stdio.mjs')
const { version: VERSION } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }
const WATCH = join(import.meta.dirname, 'watch-connections.mjs')

/** The answer of a tool: JSON, or the status and text of a refusal. */
export type ToolAnswer<T> = { ok: true; value: T } | { ok: false; status: number | undefined; text: string }

/** The published MCP server as a child process, pointed at a plane, and a client that speaks to it over its standard streams. */
export class McpServer {
  readonly called = new Set<string>()
  private readonly client: Client
  private readonly home: string

  private constructor(client: Client, home: string) {
    this.client = client
    this.home = home
  }

  static async start(plane: Pick<TestPlane, 'url' | 'apiKey'>): Promise<McpServer> {
    const home = mkdtempSync(join(tmpdir(), 'podplane-e2e-mcp-'))
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['--import', WATCH, ENTRY],
      stderr: 'ignore',
      env: { HOME: home, CONNECTIONS: join(home, 'connections'), ...documentedSettings(plane) },
    })
    const client = new Client({ name: 'podplane-e2e', version: '1.0.0' })
    await client.connect(transport)
    return new McpServer(client, home)
  }

  async tools(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name)
  }

  /** Calls a tool that must succeed. The caller states the shape. */
  async call<T>(tool: string, args: Record<string, unknown> = {}): Promise<T> {
    const answer = await this.try<T>(tool, args)
    if (!answer.ok) throw new Error(`${tool} ${JSON.stringify(args)}: ${answer.text}`)
    return answer.value
  }

  /** Calls a tool and returns success or refusal. */
  async try<T>(tool: string, args: Record<string, unknown> = {}): Promise<ToolAnswer<T>> {
    this.called.add(tool)
    const answer = await this.client.callTool({ name: tool, arguments: args })
    const text = (answer.content as { text?: string }[]).map((part) => part.text ?? '').join('\n')
    if (answer.isError !== true) return { ok: true, value: JSON.parse(text) as T }
    // A problem document contains its status; other errors name it in their text.
    return { ok: false, status: Number(/"status": (\d{3})|\((\d{3})\)/.exec(text)?.slice(1).find(Boolean)) || undefined, text }
  }

  /** Open connections of its process, as `<host>:<port>`. */
  connections(): string[] {
    return [...new Set(readFileSync(join(this.home, 'connections'), 'utf8').trim().split('\n'))]
  }

  async stop(): Promise<void> {
    await this.client.close()
    rmSync(this.home, { recursive: true, force: true })
  }
}

/** The variables that docs/clients.md sets for it, with this plane's values. */
function documentedSettings({ url, apiKey }: Pick<TestPlane, 'url' | 'apiKey'>): Record<string, string> {
  const text = readFileSync(join(PROJECT_ROOT, 'docs/clients.md'), 'utf8')
  const [, block = ''] = /```json\n([\s\S]*?)```/.exec(text) ?? []
  const filled = block.replaceAll('http://127.0.0.1:8787', url).replaceAll('<key>', apiKey)
  const { mcpServers } = JSON.parse(filled) as { mcpServers: Record<string, { args: string[]; env: Record<string, string> }> }
  const { args = [], env = {} } = mcpServers.podplane ?? {}
  if (!args.includes(`@runpod/mcp-server@${VERSION}`))
    throw new Error(`docs/clients.md starts ${args.join(' ')}, the tests have ${VERSION}`)
  return env
}
