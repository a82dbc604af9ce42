import { expect, it } from 'vitest'
import { ApiError, ConnectionError } from '../../src/client/errors.ts'
import { titleOf } from '../../src/console/hooks/sentence.ts'
import { chatText } from '../../src/console/pages/endpoints/try/try-input.ts'
import { refusalOf } from '../../src/console/parts/sign-in/refusal.ts'

it('[UI-82] a refused sign-in says what was refused', () => {
  const refused = new ApiError('POST /console/session', new Response(null, { status: 401 }), '{"detail":"invalid bearer token"}')
  expect(titleOf(refusalOf('key', refused))).toBe('This key is not known here, or it is revoked or expired.')
  expect(titleOf(refusalOf('link', refused))).toBe('This link was used or has expired. Get a new one.')
  expect(titleOf(refusalOf('key', new Error('x')))).toBe('x')
})

it('[UI-82] only a request without an answer says that the plane does not answer', () => {
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
