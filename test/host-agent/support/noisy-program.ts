import { boundOutput } from '../../../src/host-agent/builtin/bound-output.ts'

// Prints a burst of lines for every byte it reads, into the file that is its stdout, and keeps that file small.
const [, , path = '', maxBytes = '', burst = ''] = process.argv
boundOutput(path, Number(maxBytes), 5)
let line = 0
process.stdin.on('data', (bytes: Buffer) => {
  for (let n = 0; n < bytes.length * Number(burst); n += 1) {
    line += 1
    console.log(`line ${line}`)
  }
})
