import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openaiError, openaiReply } from '../../../src/contract/problem-body.ts'
import { readOpenaiCall, unwrapOutput } from '../../../src/domain/openai/call.ts'
import { readErrorOutput, readWorkerError } from '../../../src/domain/openai/error.ts'
import { jsonElements } from '../../../src/domain/text/json-text.ts'
import { readPythonLiteral } from '../../../src/domain/text/python-literal.ts'

const inputOf = (method: string, route: string, body: string) => {
  const read = readOpenaiCall(method, route, body)
  return read.ok ? read.call.input : read.detail
}

describe('the job of a call', () => {
  it('[OAI-1, JOB-30] the body goes in as the text that came', () => {
    expect(inputOf('POST', '/v1/chat/completions', ' {"seed": 12345678901234567890, "top_p": 1.0}\n')).toBe(
      '{"openai_route":"/v1/chat/completions","openai_input":{"seed": 12345678901234567890, "top_p": 1.0}}',
    )
  })

  it('[OAI-2] a GET has no openai_input, whatever its body', () => {
    expect(inputOf('GET', '/v1/models', '')).toBe('{"openai_route":"/v1/models"}')
    expect(inputOf('GET', '/v1/models', '{"a":1}')).toBe('{"openai_route":"/v1/models"}')
  })

  it('[OAI-3] the query is part of the route, and no route breaks out of its string', () => {
    expect(inputOf('GET', '/v1/models?limit=5&after=a%20b', '')).toBe('{"openai_route":"/v1/models?limit=5&after=a%20b"}')
    expect(JSON.parse(inputOf('GET', '/"},"x":{"', ''))).toEqual({ openai_route: '/"},"x":{"' })
  })

  it('[OAI-3, OAI-10] a method that the input does not imply is sent along', () => {
    expect(inputOf('DELETE', '/v1/models/m', '')).toBe('{"openai_route":"/v1/models/m","openai_method":"DELETE"}')
    expect(inputOf('POST', '/v1/responses/r/cancel', '')).toBe('{"openai_route":"/v1/responses/r/cancel","openai_method":"POST"}')
    expect(inputOf('PUT', '/v1/x', '{}')).toBe('{"openai_route":"/v1/x","openai_method":"PUT","openai_input":{}}')
  })

  it('[OAI-11] a body that is no JSON object is refused with the reason', () => {
    expect(readOpenaiCall('POST', '/v1/x', '[1]')).toEqual({ ok: false, detail: '$: want a JSON object' })
    expect(readOpenaiCall('POST', '/v1/x', '--form')).toMatchObject({ ok: false, detail: expect.stringContaining('not JSON') })
  })

  it('[OAI-5] only `true` asks for a stream', () => {
    const isStream = (body: string) => {
      const read = readOpenaiCall('POST', '/v1/x', body)
      return read.ok && read.call.stream
    }
    expect(isStream('{"stream": true }')).toBe(true)
    for (const body of [
      '{"stream":false}',
      '{"stream":"true"}',
      '{"stream":1}',
      '{"a":{"stream":true}}',
      '{"stream":true,"stream":false}',
      '{}',
    ])
      expect(isStream(body), body).toBe(false)
  })
})

describe('the answer of a job', () => {
  it('[OAI-4] a list of one is its element, with every digit', () => {
    expect(unwrapOutput('[{"id": 1.0}]')).toBe('{"id": 1.0}')
  })

  it('[OAI-4] a list of JSON lines is joined', () => {
    expect(unwrapOutput(JSON.stringify(['{"a":', ' [1,', '2]}']))).toBe('{"a": [1,2]}')
  })

  it('[OAI-4] text that holds JSON is that JSON', () => {
    expect(unwrapOutput('"{\\"a\\":1}"')).toBe('{"a":1}')
    expect(unwrapOutput('["[1,2]"]')).toBe('[1,2]')
  })

  it('[OAI-4] everything else is answered as it is', () => {
    for (const output of ['{"a":1}', '[]', '[{"a":1},{"b":2}]', '["x","y"]', '"plain"', '"42"', 'null', '7'])
      expect(unwrapOutput(output)).toBe(output)
  })

  it('elements of an array are found as the text that they are', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2), (values, indent) => {
        const text = JSON.stringify(values, null, indent)
        expect(jsonElements(text)?.map((element) => JSON.parse(element))).toEqual(JSON.parse(text))
      }),
    )
    expect(jsonElements('{"a":[1]}')).toBeNull()
    expect(jsonElements('[1,')).toBeNull()
  })
})

describe('errors', () => {
  it("[OAI-7] Python's text form of a dict is read, its status included", () => {
    const text = `{'object': 'error', 'message': "The model \`x\` doesn't exist.", 'type': 'NotFoundError', 'param': None, 'code': 404}`
    expect(readWorkerError(text)).toEqual({ status: 404, message: "The model `x` doesn't exist.", type: 'NotFoundError', code: null })
  })

  it('[OAI-7] so is JSON, nested or not, and the code that is none of a status stays', () => {
    const error = { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded', status: 400 }
    const wanted = { status: 400, message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' }
    expect(readWorkerError(JSON.stringify(error))).toEqual(wanted)
    expect(readWorkerError(JSON.stringify({ error }))).toEqual(wanted)
    expect(readWorkerError('{"message":"busy","code":"503"}')).toEqual({ status: 503, message: 'busy', type: 'server_error', code: null })
  })

  it('[OAI-7] an exception gives its message without the traceback, and 500', () => {
    const text = JSON.stringify({ error_type: "<class 'ValueError'>", error_message: 'no weights', error_traceback: 'File "/src/x.py"' })
    const wanted = { status: 500, message: 'no weights', type: 'server_error', code: null }
    expect(readWorkerError(text)).toEqual(wanted)
    expect(readWorkerError('handler: no weights \ntraceback: Traceback (most recent call last):\n  File "x.py"')).toEqual(wanted)
  })

  it('[OAI-7] plain text and invalid statuses are 500', () => {
    expect(readWorkerError('CUDA out of memory')).toEqual({ status: 500, message: 'CUDA out of memory', type: 'server_error', code: null })
    for (const code of [200, 399, 600, 40, 400.5, '4O0', null])
      expect(readWorkerError(JSON.stringify({ message: 'm', code })).status, String(code)).toBe(500)
    for (const code of [400, 599]) expect(readWorkerError(JSON.stringify({ message: 'm', code })).status).toBe(code)
  })

  it('[OAI-7, OAI-13] an output in the form of an error is an error; an answer that mentions errors is not', () => {
    expect(readErrorOutput('{"object":"error","message":"no","type":"BadRequestError","code":400}')).toMatchObject({
      status: 400,
      message: 'no',
    })
    expect(readErrorOutput('{"error":{"message":"no","code":422}}')).toMatchObject({ status: 422 })
    for (const output of ['{"object":"chat.completion","message":"x"}', '{"error":null,"message":"x"}', '{"error":"x"}', '[]', '"error"'])
      expect(readErrorOutput(output), output).toBeNull()
  })

  it('[OAI-11] an error has the members of both APIs', () => {
    expect(JSON.parse(openaiReply(openaiError(404, 'endpoint not found')).body)).toEqual({
      error: { message: 'endpoint not found', type: 'not_found_error', code: null },
      title: 'Not Found',
      status: 404,
      detail: 'endpoint not found',
    })
    expect(JSON.parse(openaiReply(openaiError(418, 'm')).body)).toMatchObject({ title: 'Bad Request', status: 418 })
    expect(JSON.parse(openaiReply(openaiError(599, 'm')).body)).toMatchObject({ title: 'Internal Server Error', status: 599 })
  })
})

describe("Python's text form", () => {
  it('[OAI-7] strings of both quotes, escapes and literals', () => {
    expect(
      readPythonLiteral(
        `{'a': "it's", 'b': 'say "x"', 'c': ['\\n\\x41\\u00e9\\U0001f600\\\\\\''], 'd': True, 'e': False, 'f': None, 'g': -1.5}`,
      ),
    ).toEqual({
      a: "it's",
      b: 'say "x"',
      c: ["\nAé😀\\'"],
      d: true,
      e: false,
      f: null,
      g: -1.5,
    })
  })

  it('[OAI-7] anything else is not read, and costs no more than its length', () => {
    for (const text of ["{'a': 'open", "<class 'ValueError'>", '', 'None of it', "'\\Uffffffff", '\\"'.repeat(30_000)]) {
      expect(readPythonLiteral(text), text.slice(0, 20)).toBeUndefined()
    }
    expect(readPythonLiteral("'\\Uffffffff'")).toBe('\\Uffffffff')
  })
})
