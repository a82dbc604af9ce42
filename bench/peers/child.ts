import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

/** A started program, and the output that showed its readiness. */
export interface Child extends AsyncDisposable {
  ready: RegExpExecArray
}

/** Starts a program and waits until its output matches `readyWhen`. Throws its output if it ends before. */
export async function startChild(program: string, args: readonly string[], readyWhen: RegExp, options: SpawnOptions = {}): Promise<Child> {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  const ready = await waitForOutput(child, readyWhen)
  return {
    ready,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('close', resolve))
      // On this signal PostgreSQL closes its connections instead of waiting for them; the other programs do not distinguish it from others.
      child.kill('SIGINT')
      await ended
    },
  }
}

function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let output = ''
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`${child.spawnfile} ended with ${code}: ${output}`)))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk
        const match = pattern.exec(output)
        if (match) resolve(match)
      })
    }
  })
}
