import { cpSync, mkdirSync } from 'node:fs'
import { build } from 'esbuild'

// Builds what a fresh clone needs beside its sources: the one-file host agent and the static assets of the reference page.
mkdirSync('dist/assets', { recursive: true })
