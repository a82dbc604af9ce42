#!/usr/bin/env node
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { errorText, OperatorError } from '../node/fail.ts'
import { dropRefusedOutput } from '../node/file-output.ts'
import { logToStderr } from './log.ts'
import { openSshProxy } from './proxy.ts'

const MIN_KEY_CHARS = 32
const MAX_PORT = 65_535
const EXIT_FAILURE = 1

const program = new Command('podplane-ssh-proxy')
  .description(
    'Leads SSH clients into pods of a podplane control plane; its key is SSH_PROXY_KEY of the environment, the same as the plane has',
  )
  .requiredOption('--url <plane>', 'address of the plane')
  .option('--listen <address:port>', 'where clients connect', '0.0.0.0:22')
  .option('--state-dir <dir>', 'directory of the host key', join(homedir(), '.podplane-ssh-proxy'))
  .parse()

dropRefusedOutput()
try {
  const { url, listen, stateDir } = program.opts<{ url: string; listen: string; stateDir: string }>()
  const key = process.env.SSH_PROXY_KEY ?? ''
  if (key.length < MIN_KEY_CHARS)
    throw new OperatorError(`SSH_PROXY_KEY must be set to ${MIN_KEY_CHARS} characters or more, the same as at the plane`)
  const proxy = await openSshProxy({ planeUrl: planeUrl(url), key, ...addressOf(listen), stateDir, log: logToStderr })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void proxy.close().then(() => process.exit()))
} catch (error) {
  process.stderr.write(`podplane-ssh-proxy: ${errorText(error)}\n`)
  process.exitCode = EXIT_FAILURE
}

function planeUrl(text: string): string {
  const url = URL.parse(text)
  const isLocal = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return url.origin
  throw new OperatorError(`--url ${text} is no https address; http is for a plane on this machine alone`)
}

function addressOf(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? []
  if (host === '' || Number(port) > MAX_PORT) throw new OperatorError(`--listen ${text} is no address and port, such as 0.0.0.0:22`)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}
