#!/usr/bin/env node
import { runAsProcess } from './process.ts'

// `podplane …`: everything that people do with a plane, from a shell.

await runAsProcess(process.argv.slice(2))
