package cursor

import (
	"os"
	"time"
)

func killSelf() { os.Exit(1) }

func hang() { time.Sleep(time.Hour) }
