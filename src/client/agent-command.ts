import { quoted } from './shell.ts'

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Whether `url` has a loopback address, so that requests do not leave this machine. */
export function isOnThisMachine(url: string): boolean {
  return LOOPBACK.has(new URL(url).hostname)
}

/** Whether an agent on another machine would send its keys to `url` in plain text, which it refuses by default (HOST-80). */
export function isPlainHttp(url: string): boolean {
  return new URL(url).protocol === 'http:' && !isOnThisMachine(url)
}

/**
 * Shell command that starts the agent of a new host (CMD-61). `insecure`: the operator accepts plain `http`, because the network to the
 * plane is private.
 */
export function agentCommand(url: string, token: string, insecure = false): string {
  return `podplane-agent --url ${quoted(url)}${insecure ? ' --insecure-plane' : ''} --token ${quoted(token)}`
}
