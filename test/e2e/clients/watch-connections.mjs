import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'

// Loaded before a program to record its connections: writes the target of each, and does not change it.

const { connect } = Socket.prototype

Socket.prototype.connect = function watched(...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  const { host, port, path } = typeof first === 'object' ? first : { host: second, port: first }
  appendFileSync(process.env.CONNECTIONS, `${path ?? `${host}:${port}`}\n`)
  return connect.apply(this, args)
}
