import { homedir } from 'node:os'
import { runPodplane } from './run.ts'

/** Runs one command line as this process, and ends it with its exit code. */
export async function runAsProcess(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort())
  // Whoever reads has had enough, as `| head` does.
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
  // Sockets that are kept for further requests, and a stdin that is read no more, would keep the process alive.
  process.stdout.write('', () => process.exit(code))
}
