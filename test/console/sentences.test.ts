import { expect, it } from 'vitest'
import { ApiError, ConnectionError } from '../../src/client/errors.ts'
import { titleOf } from '../../src/console/hooks/sentence.ts'
import { chatText } from '../../src/console/pages/endpoints/try/try-input.ts'

it('[UI-80] only a request without an answer says that the plane does not answer', () => {
  const refusal = (() => {
    try {
      return chatText('{"error":{"message":"The model `default` does not exist."}}')
    } catch (error) {
      return error
    }
  })()
  expect(titleOf(refusal as Error)).toBe('The model `default` does not exist.')
  const notFound = new ApiError('POST /v2/e/openai', new Response(null, { status: 404 }), '{"error":"no such model"}')
  expect(titleOf(notFound)).toBe('no such model')
  expect(titleOf(new ConnectionError('GET /v2/pods', new Error('Failed to fetch')))).toBe('The plane does not answer.')
})
