/** TypeScript projects whose types `npm run check` verifies. `test/contract/type-projects.test.ts` requires that they have every source. */
export const TYPE_PROJECTS: readonly string[] = [
  'tsconfig.json',
  'src/host-agent/tsconfig.json',
  'src/node/tsconfig.json',
  'src/ssh-proxy/tsconfig.json',
  'src/local/tsconfig.json',
  'src/console/tsconfig.json',
  'bench/baseline/tsconfig.json',
  'bench/inside/tsconfig.json',
  'bench/reliability/tsconfig.json',
  'bench/soak/tsconfig.json',
  'scripts/tsconfig.json',
  'test/tsconfig.json',
  'test/local/tsconfig.json',
  'test/console/tsconfig.json',
]
