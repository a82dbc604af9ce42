import { defineConfig } from '@hey-api/openapi-ts'

export default defineConfig({
  input: '../docs/openapi-v2.json',
  // Sources run as they are, under Node's type stripping too.
  output: { path: 'src/generated', module: { extension: '.ts' } },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    {
      name: '@hey-api/typescript',
      // Their own words: `ListPodsResponse` is a schema of the document.
      responses: { name: '{{name}}Answers', response: '{{name}}Answer' },
      errors: { name: '{{name}}Refusals', error: '{{name}}Refusal' },
    },
    {
      name: '@hey-api/sdk',
      responseStyle: 'data',
      operations: { strategy: 'single', containerName: 'Operations', methods: 'instance' },
    },
  ],
})
