import { homedir } from 'node:os'
import { errorText, hasCode } from '../node/fail.ts'
import { runPodplane } from './run.ts'

/** Runs one command line as this process and exits with its exit code. */
export async function runAsProcess(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort())
  process.stdout.on('error', failOutput)
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
  process.stdout.write('', (error) => (error ? failOutput(process.stdout.errored ?? error) : process.exit(code)))
}

/** Ends the command whose output was refused (CMD-2). */
function failOutput(error: Error): never {
  // The reader has closed the pipe, as `| head` does.
  if (hasCode(error, 'EPIPE')) process.exit(0)
  process.stderr.write(`podplane: the output could not be written (${errorText(error)})\n`)
  process.exit(1)
}
