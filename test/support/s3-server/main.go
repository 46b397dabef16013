// An S3 server on files, for tests: Versity's gateway on a folder.
// It ends on SIGTERM, or when its standard input closes, so that it never outlives the tests that started it.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: s3-server HOST:PORT FOLDER SIDECAR-FOLDER < pipe")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	// Not every file system has extended attributes: what is known of a file lies beside it.
	store, err := meta.NewSideCar(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	files, err := posix.New(os.Args[2], store, posix.PosixOpts{SideCarDir: os.Args[3], ForceNoTmpFile: true})
	if err != nil {
		log.Fatal(err)
	}
	err = embedgw.RunVersityGW(ctx, files, &embedgw.Config{
		RootUserAccess:    os.Getenv("AWS_ACCESS_KEY_ID"),
		RootUserSecret:    os.Getenv("AWS_SECRET_ACCESS_KEY"),
		Region:            "us-east-1",
		Ports:             []string{os.Args[1]},
		MaxConnections:    1000,
		MaxRequests:       1000,
		MultipartMaxParts: 10000,
		Quiet:             true,
		KeepAlive:         true,
	})
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}
