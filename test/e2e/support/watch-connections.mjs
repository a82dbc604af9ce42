import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'

// Loaded before a program whose connections are to be known: writes down where each goes, and lets it go there.

const { connect } = Socket.prototype

Socket.prototype.connect = function watched(...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  const { host, port, path } = typeof first === 'object' ? first : { host: second, port: first }
  appendFileSync(process.env.CONNECTIONS, `${path ?? `${host}:${port}`}\n`)
  return connect.apply(this, args)
}
