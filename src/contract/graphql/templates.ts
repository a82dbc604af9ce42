/** Templates of pods and endpoints. */
export const TEMPLATES = `type PodTemplate {
  id: String!
  name: String
  imageName: String
  dockerArgs: String
  env: [EnvironmentVariable]
  "Comma-separated."
  ports: String
  portsConfig: [PortConfig]
  containerDiskInGb: Int
  volumeInGb: Int
  volumeMountPath: String
  containerRegistryAuthId: String
  isServerless: Boolean
  isPublic: Boolean
  "Whether the operator lists its account as official."
  isRunpod: Boolean
  category: String
  startSsh: Boolean
  startJupyter: Boolean
  "Run in place of the image's command, with dockerArgs as its arguments."
  startScript: String
  "Empty for an endpoint's own template."
  readme: String
  advancedStart: Boolean
}

type PortConfig {
  name: String
  port: String
}

input PortConfigInput {
  name: String
  port: String
}

input PodTemplateInput {
  "True: of accounts that the operator lists as official; false: all others. Default: both."
  isRunpod: Boolean
}

input SaveTemplateInput {
  id: String
  name: String
  imageName: String
  dockerArgs: String
  containerDiskInGb: Int
  volumeInGb: Int
  volumeMountPath: String
  ports: String
  env: [EnvironmentVariableInput]
  isServerless: Boolean
  isPublic: Boolean
  startSsh: Boolean
  startJupyter: Boolean
  "Script of the shell in its first line, or of /bin/sh; run in place of the image's command, with dockerArgs as its arguments."
  startScript: String
  readme: String
  containerRegistryAuthId: String
  "Only for display."
  advancedStart: Boolean
  category: String
  "Names of ports; also the ports if 'ports' is omitted."
  portsConfig: [PortConfigInput]
}
`
