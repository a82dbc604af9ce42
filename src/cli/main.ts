#!/usr/bin/env node
import { homedir } from 'node:os'
import { runPodplane } from './run.ts'

// `podplane …`: everything that people do with a plane, from a shell.

const interrupt = new AbortController()
process.once('SIGINT', () => interrupt.abort())
// Whoever reads has had enough, as `| head` does.
process.stdout.on('error', () => process.exit(0))

const code = await runPodplane(
  process.argv.slice(2),
  {
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    nowMs: () => Date.now(),
  },
  interrupt.signal,
)
// Sockets that are kept for further requests, and a stdin that is read no more, would keep the process alive.
process.stdout.write('', () => process.exit(code))
