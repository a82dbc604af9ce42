// Creates, lists and deletes a pod and an endpoint with the client that oapi-codegen generates.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"example.com/tour/podplane"
)

func main() {
	signed := podplane.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	})
	client, err := podplane.NewClientWithResponses(os.Args[1], signed)
	must(err)
	ctx := context.Background()

	image := "builtin/idle"
	made, err := client.CreatePodWithResponse(ctx, nil, podplane.CreatePodRequest{
		Name: "oapi", Image: &image, Gpu: &podplane.PodGpuRequest{Id: "NVIDIA L4"},
	})
	must(err)
	pods, err := client.ListPodsWithResponse(ctx, nil)
	must(err)
	isListed := false
	for _, one := range pods.JSON200.Pods {
		isListed = isListed || one.Id == made.JSON201.Id
	}
	_, err = client.DeletePodWithResponse(ctx, made.JSON201.Id, nil)
	must(err)
	gone, err := client.GetPodWithResponse(ctx, made.JSON201.Id, nil)
	must(err)

	name, echo := "oapi", "builtin/echo"
	endpoint, err := client.CreateEndpointWithResponse(ctx, nil, podplane.CreateEndpointRequest{
		Name: &name, Image: &echo, Cpu: &[]podplane.CreateCpuConfig{{Id: "cpu3c", VcpuCount: 2}},
	})
	must(err)
	endpoints, err := client.ListEndpointsWithResponse(ctx, nil)
	must(err)
	hasEndpoint := false
	for _, one := range endpoints.JSON200.Endpoints {
		hasEndpoint = hasEndpoint || one.Id == endpoint.JSON201.Id
	}
	_, err = client.DeleteEndpointWithResponse(ctx, endpoint.JSON201.Id, nil)
	must(err)
	ended, err := client.GetEndpointWithResponse(ctx, endpoint.JSON201.Id)
	must(err)

	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"pod":      []any{made.JSON201.Name, isListed, gone.StatusCode()},
		"endpoint": []any{endpoint.JSON201.Flashboot, hasEndpoint, ended.StatusCode()},
	})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
