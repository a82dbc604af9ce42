import { homedir } from 'node:os'
import { runPodplane } from './run.ts'

/** Runs one command line as this process and exits with its exit code. */
export async function runAsProcess(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort())
  // The reader has closed the pipe, as `| head` does.
  process.stdout.on('error', () => process.exit(0))
  const code = await runPodplane(
    argv,
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
  // Idle keep-alive sockets and an unread stdin would keep the process alive.
  process.stdout.write('', () => process.exit(code))
}
