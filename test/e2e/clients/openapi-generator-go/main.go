// Creates, lists and deletes a pod and an endpoint with the client that openapi-generator generates for Go.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	podplane "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	configuration := podplane.NewConfiguration()
	configuration.Servers = podplane.ServerConfigurations{{URL: os.Args[1]}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+os.Args[2])
	client := podplane.NewAPIClient(configuration)
	ctx := context.Background()

	pod := podplane.NewCreatePodRequest("go")
	pod.SetImage("builtin/idle")
	pod.SetGpu(*podplane.NewPodGpuRequest("NVIDIA L4"))
	made, answer, err := client.PodsAPI.CreatePod(ctx).CreatePodRequest(*pod).Execute()
	must(err, answer)
	id := made.Pod.GetId()
	pods, answer, err := client.PodsAPI.ListPods(ctx).Execute()
	must(err, answer)
	isListed := false
	for _, one := range pods.Pods {
		isListed = isListed || one.Id == id
	}
	_, answer, err = client.PodsAPI.DeletePod(ctx, id).Execute()
	must(err, answer)
	_, gone, _ := client.PodsAPI.GetPod(ctx, id).Execute()

	wanted := podplane.NewCreateEndpointRequest()
	wanted.SetName("go")
	wanted.SetImage("builtin/echo")
	wanted.SetCpu([]podplane.CreateCpuConfig{*podplane.NewCreateCpuConfig("cpu3c", 2)})
	endpoint, answer, err := client.ServerlessAPI.CreateEndpoint(ctx).CreateEndpointRequest(*wanted).Execute()
	must(err, answer)
	endpointId := endpoint.Endpoint.GetId()
	endpoints, answer, err := client.ServerlessAPI.ListEndpoints(ctx).Execute()
	must(err, answer)
	hasEndpoint := false
	for _, one := range endpoints.Endpoints {
		hasEndpoint = hasEndpoint || one.Id == endpointId
	}
	_, answer, err = client.ServerlessAPI.DeleteEndpoint(ctx, endpointId).Execute()
	must(err, answer)
	_, ended, _ := client.ServerlessAPI.GetEndpoint(ctx, endpointId).Execute()

	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"pod":      []any{made.Pod.GetName(), isListed, gone.StatusCode},
		"endpoint": []any{endpoint.Endpoint.GetFlashboot(), hasEndpoint, ended.StatusCode},
	})
}

func must(err error, answer *http.Response) {
	if err == nil {
		return
	}
	if refused, ok := err.(*podplane.GenericOpenAPIError); ok {
		os.Stderr.Write(refused.Body())
	}
	panic(err)
}
